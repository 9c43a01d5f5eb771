"""The Lua scripts of the log and the ledger. Each checks all there is to check before its first write.

Numbers are compared as strings: Lua's are doubles. What can fail is a read; a write that follows it can't, since the
server refuses a script that could run out of memory before it begins, and the type of every key has been read.
"""

from events.redis_script import Script

NOW_MS = """
    local function clock_ms()
        local time = redis.call('TIME')
        return time[1] * 1000 + math.floor(time[2] / 1000)
    end
"""
"""The store's clock, in Unix milliseconds: no other is asked about deadlines and beats."""

APPEND = Script(
    NOW_MS
    + """
    local game, games, deadlines, gone, outbox, outbox_head = unpack(KEYS)
    local version, hash, id, wait_ms, expired_ms, channel = unpack(ARGV, 1, 6)
    local events = 8
    local entries = events + 3 * ARGV[7]

    local last = redis.call('XREVRANGE', game, '+', '-', 'COUNT', 1)[1]
    if last then
        if last[1] ~= version or last[2][2] ~= hash then return {'conflict', last[1]} end
    else
        local went = redis.call('HGET', gone, id)
        if went then return {'conflict', string.match(went, '^%S+')} end
        if version ~= '0-0' then return {'conflict', '0-0'} end
    end
    local now_ms = clock_ms()
    local due_ms = redis.call('ZSCORE', deadlines, id)
    if expired_ms ~= '' and (due_ms ~= expired_ms or tonumber(expired_ms) > now_ms) then
        return {'not yet', due_ms or ''}
    end
    redis.call('ZSCORE', games, id)
    if outbox then
        local stands = redis.call('GET', outbox_head) or ''
        if stands ~= ARGV[entries] then return {'outbox', stands} end
        redis.call('XREVRANGE', outbox, '+', '-', 'COUNT', 1)
    end

    local news = {id, version, hash}
    for at = events, entries - 3, 3 do
        redis.call('XADD', game, ARGV[at], 'h', ARGV[at + 1], 'b', ARGV[at + 2])
        news[#news + 1] = ARGV[at + 1]
        news[#news + 1] = ARGV[at + 2]
    end
    if not last then redis.call('ZADD', games, 0, id) end
    if wait_ms ~= '' then
        redis.call('ZADD', deadlines, string.format('%.0f', now_ms + wait_ms), id)
    elseif due_ms then
        redis.call('ZREM', deadlines, id)
    end
    if outbox then
        for at = entries + 1, #ARGV - 1, 3 do
            redis.call('XADD', outbox, ARGV[at], 'h', ARGV[at + 1], 'g', id, 'b', ARGV[at + 2])
        end
        redis.call('SET', outbox_head, ARGV[#ARGV])
    end
    redis.pcall('SPUBLISH', channel, cmsgpack.pack(news))
    return 1
    """
)

LET_GO = Script(
    """
    local game, games, deadlines, gone, claimant = unpack(KEYS)
    local id, version, hash = unpack(ARGV)
    local last = redis.call('XREVRANGE', game, '+', '-', 'COUNT', 1)[1]
    local stands = redis.call('HGET', gone, id) or ''
    if last then stands = last[1] .. ' ' .. last[2][2] end
    if stands ~= version .. ' ' .. hash then return stands end
    redis.call('ZSCORE', games, id)
    redis.call('ZSCORE', deadlines, id)

    redis.call('HSET', gone, id, stands)
    redis.call('UNLINK', game, claimant)
    redis.call('ZREM', games, id)
    redis.call('ZREM', deadlines, id)
    return 1
    """,
    flags="allow-oom",
)
"""It takes a few bytes and gives back many, so it runs in full memory too."""

TRIM = Script(
    """
    local outbox, position = KEYS[1], ARGV[1]
    if #redis.call('XRANGE', outbox, position, position) == 1 then redis.call('XTRIM', outbox, 'MINID', position) end
    """,
    flags="allow-oom",
)

FORGET_BEFORE = Script("redis.call('HDEL', KEYS[1], ARGV[1])", flags="allow-oom")

DEADLINES = Script(
    NOW_MS
    + """
    local now_ms = string.format('%.0f', clock_ms())
    local past = {}
    for _, deadlines in ipairs(KEYS) do
        local found = redis.call('ZRANGEBYSCORE', deadlines, '-inf', now_ms, 'WITHSCORES', 'LIMIT', 0, ARGV[1])
        for _, each in ipairs(found) do past[#past + 1] = each end
    end
    return past
    """,
    flags="no-writes",
)

NEXT_DEADLINE = Script(
    NOW_MS
    + """
    local now_ms = clock_ms()
    local nearest_ms = false
    for _, deadlines in ipairs(KEYS) do
        local after = '(' .. string.format('%.0f', now_ms)
        local found = redis.call('ZRANGEBYSCORE', deadlines, after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
        if found[2] and (not nearest_ms or found[2] - now_ms < nearest_ms) then nearest_ms = found[2] - now_ms end
    end
    return nearest_ms
    """,
    flags="no-writes",
)

BEAT = Script(
    NOW_MS
    + """
    local beats = KEYS[1]
    local gap_ms_max, kept_ms = unpack(ARGV)
    local now_ms = clock_ms()
    local shown = string.format('%.0f', now_ms)
    local last = redis.call('ZRANGE', beats, -1, -1, 'WITHSCORES')
    if last[1] and tonumber(last[2]) >= now_ms - gap_ms_max then
        if tonumber(last[2]) < now_ms then redis.call('ZADD', beats, shown, last[1]) end
    else
        redis.call('ZADD', beats, shown, shown)
        redis.call('ZREMRANGEBYSCORE', beats, '-inf', string.format('%.0f', now_ms - kept_ms))
    end
    """,
    flags="allow-oom",
)

SET = Script("redis.call('SET', KEYS[1], ARGV[1])")

CLAIM = Script(
    """
    local place, befores = unpack(KEYS)
    local game, instead_of = unpack(ARGV)
    local holder = redis.call('GET', place)
    redis.call('HLEN', befores)
    if holder and (holder ~= instead_of or holder == game) then return holder end
    if holder then redis.call('HSET', befores, game, holder) end
    redis.call('SET', place, game)
    return game
    """
)

LEDGER_APPEND = Script(
    """
    local head, marks, leaves, once = unpack(KEYS)
    local before, after = unpack(ARGV, 1, 2)
    local marks_before = 6
    local marks_after = marks_before + 2 * ARGV[3]
    local fresh = marks_after + 2 * ARGV[4]
    local nodes = fresh + 4 * ARGV[5]

    if (redis.call('GET', head) or '') ~= before then
        return 'the ledger has another number of leaves, or others'
    end
    for at = marks_before, marks_after - 2, 2 do
        if (redis.call('HGET', marks, ARGV[at]) or '') ~= ARGV[at + 1] then
            return 'partition ' .. ARGV[at] .. ' was copied from meanwhile'
        end
    end
    redis.call('HLEN', marks)
    redis.call('XLEN', leaves)
    for at = fresh, nodes - 4, 4 do
        if redis.call('HEXISTS', once, ARGV[at + 1]) == 1 then return 'a leaf has come meanwhile' end
    end
    for at = 5, #KEYS do redis.call('STRLEN', KEYS[at]) end

    for at = fresh, nodes - 4, 4 do
        redis.call('XADD', leaves, ARGV[at], 'b', ARGV[at + 3])
        redis.call('HSET', once, ARGV[at + 1], ARGV[at + 2])
    end
    for at = 5, #KEYS do
        local from = nodes + 2 * (at - 5)
        redis.call('SETRANGE', KEYS[at], ARGV[from], ARGV[from + 1])
    end
    for at = marks_after, fresh - 2, 2 do redis.call('HSET', marks, ARGV[at], ARGV[at + 1]) end
    if after ~= before then redis.call('SET', head, after) end
    return 1
    """
)

LEDGER_RESTART = Script(
    """
    if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
    redis.call('UNLINK', unpack(KEYS))
    return 1
    """,
    flags="allow-oom",
)
