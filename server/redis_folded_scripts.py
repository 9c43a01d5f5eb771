"""The Lua scripts of the projections in Redis. Each checks all there is to check before its first write."""

from events.redis_script import Script

GENERATIONS = Script(
    """
    local generations, dropped = unpack(KEYS)
    local rest = 2 + 3 * ARGV[1]
    for at = 2, rest - 3, 3 do
        if (redis.call('HGET', generations, ARGV[at]) or '') ~= ARGV[at + 1] then return 0 end
    end
    redis.call('SCARD', dropped)
    for at = 2, rest - 3, 3 do
        if ARGV[at + 2] == '' then
            redis.call('HDEL', generations, ARGV[at])
        else
            redis.call('HSET', generations, ARGV[at], ARGV[at + 2])
        end
    end
    for at = rest, #ARGV do redis.call('SADD', dropped, ARGV[at]) end
    return 1
    """
)
"""How many fields, (field, what stands there, what shall stand there; empty: nothing) …, ids to drop …: 1, or 0 and
nothing done."""

ADVANCE = Script(
    """
    local generations, rows, keys, boards, barred, held = unpack(KEYS, 1, 6)
    local state, before, after, as_of = unpack(ARGV, 1, 4)
    if redis.call('HGET', generations, state) ~= before then return 0 end
    redis.call('HLEN', rows)
    redis.call('ZCARD', keys)
    redis.call('HLEN', boards)
    redis.call('SCARD', barred)
    redis.call('STRLEN', held)
    for at = 7, #KEYS do redis.call('ZCARD', KEYS[at]) end

    local at = 7
    for _ = 1, ARGV[6] do
        redis.call('HSET', rows, ARGV[at], ARGV[at + 1])
        redis.call('ZADD', keys, 0, ARGV[at])
        at = at + 2
    end
    for board = 7, #KEYS do
        local name, changes = ARGV[at], ARGV[at + 1]
        at = at + 2
        local moved = 0
        for _ = 1, changes do
            if ARGV[at + 1] == '' then
                moved = moved + redis.call('ZREM', KEYS[board], ARGV[at])
            else
                moved = moved + redis.call('ZADD', KEYS[board], 'CH', ARGV[at + 1], ARGV[at])
            end
            at = at + 2
        end
        if moved > 0 then
            redis.call('HSET', boards, name, as_of)
        else
            redis.call('HSETNX', boards, name, as_of)
        end
    end
    while at < #ARGV do
        redis.call(ARGV[at + 1] == '1' and 'SADD' or 'SREM', barred, ARGV[at])
        at = at + 2
    end
    if ARGV[5] ~= '' then
        redis.call('SET', held, ARGV[5])
    else
        redis.call('DEL', held)
    end
    redis.call('HSET', generations, state, after)
    return 1
    """
)
"""State, generation before and after, position, what is held, how many rows, (key, row) …; for each board among the
keys its name, how many changes, (player, score or nothing) …; (player, whether barred) …: 1, or 0 and nothing done."""

PAGE = Script(
    """
    local found = redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])
    for at = 1, #found do found[#found + 1] = redis.call('HGET', KEYS[1], found[at]) end
    return found
    """,
    flags="no-writes",
)
"""The keys, then their rows."""

SWEEP = Script(
    """
    if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1 then
        for at = 2, #KEYS do redis.call('UNLINK', KEYS[at]) end
        redis.call('SREM', KEYS[1], ARGV[1])
    end
    return 1
    """,
    flags="allow-oom",
)

_AHEAD = """
    local function ahead(board, score)
        local lowest = math.floor(score / 8589934592) * 8589934592
        return redis.call('ZCOUNT', board, '-inf', '(' .. string.format('%.0f', lowest))
    end
"""
"""How many have a higher value than this score's, whose index is its lowest 33 bits."""

PLACES = Script(
    _AHEAD
    + """
    local generations, boards, board = unpack(KEYS)
    local name, what, count = unpack(ARGV, 1, 3)
    local live = redis.call('HGET', generations, 'live') or ''
    local moved = redis.call('HGET', boards, name) or '0'
    local size = redis.call('ZCARD', board)

    local function behind(score, player)
        local start = redis.call('ZCOUNT', board, '-inf', '(' .. score)
        for _, other in ipairs(redis.call('ZRANGEBYSCORE', board, score, score)) do
            local at = 1
            -- Not by `<`: that asks the locale.
            while at < #other and other:byte(at) == player:byte(at) do at = at + 1 end
            if other:byte(at) <= player:byte(at) then start = start + 1 end
        end
        return start
    end

    local start = tonumber(ARGV[4])
    if what == 'around' then
        local position = redis.call('ZRANK', board, ARGV[4])
        if not position then return {live, moved, size, 0, 0, {}} end
        start = math.max(0, position - count)
        count = position + count + 1 - start
    elseif what == 'following' then
        start = behind(ARGV[4], ARGV[5])
    end
    local found = {}
    if tonumber(count) > 0 then
        found = redis.call('ZRANGE', board, start, start + count - 1, 'WITHSCORES')
    end
    return {live, moved, size, start, found[2] and ahead(board, found[2]) or 0, found}
    """,
    flags="no-writes",
)
"""Board, `page`, count, start; or `around`, count, player; or `following`, count, score, player."""

OF = Script(
    """
    local call, board = redis.call, KEYS[2]
    local told = {call('HGET', KEYS[1], 'live') or '', call('ZCARD', board)}
    for at = 1, #ARGV do
        local player, last = ARGV[at], 3 * at
        local score = call('ZSCORE', board, player)
        if score then
            told[last] = score
            told[last + 1] = call('ZRANK', board, player)
            -- Of the next higher value the last score. As an argument a whole number below 2^53 keeps every digit.
            told[last + 2] = call('ZCOUNT', board, '-inf', score - score % 8589934592 - 1)
        else
            told[last], told[last + 1], told[last + 2] = '', 0, 0
        end
    end
    return told
    """,
    flags="no-writes",
)
"""Generations and board; players …: the live generation, the board's size, then of each the score, empty for one who
doesn't stand there, the position, and how many have a higher value."""
