"""The Lua scripts of arranged games and the queue in Redis. All their keys lie in one slot, so each is one write."""

from events.redis_script import Script
from events.redis_scripts import NOW_MS

_REMOVE_REMATCH = """
    local function remove(id)
        local record = redis.call('HGET', KEYS[1], id)
        if not record then return nil end
        local player, other = string.sub(record, 1, 16), string.sub(record, 17, 32)
        redis.call('HDEL', KEYS[1], id)
        redis.call('ZREM', KEYS[2], player .. id)
        redis.call('ZREM', KEYS[3], other .. id)
        return other
    end
"""
_ADD_MEETING = """
    local function add(games, unopened, by_player, by_game, id, record, players)
        if redis.call('HSETNX', games, id, record) == 1 then redis.call('SADD', unopened, id) end
        for at = 1, #players, 16 do
            local player = string.sub(players, at, at + 15)
            redis.call('ZADD', by_player, 0, player .. id)
            redis.call('ZADD', by_game, 0, id .. player)
        end
    end
"""
_FORGET_MEETING = """
    local function forget(games, unopened, by_player, by_game, id)
        for _, row in ipairs(redis.call('ZRANGEBYLEX', by_game, '[' .. id, '[' .. id .. string.rep('\\255', 16))) do
            redis.call('ZREM', by_player, string.sub(row, 17) .. id)
            redis.call('ZREM', by_game, row)
        end
        redis.call('HDEL', games, id)
        redis.call('SREM', unopened, id)
    end
"""

ARRANGE = Script(
    _ADD_MEETING
    + """
    local games, unopened, by_player, by_game, instead = unpack(KEYS)
    local id = ARGV[1]
    if redis.call('HEXISTS', instead, id) == 1 then return 0 end
    if redis.call('HEXISTS', games, id) == 1 and redis.call('SISMEMBER', unopened, id) == 0 then return 0 end
    add(games, unopened, by_player, by_game, unpack(ARGV))
    return 1
    """
)
"""Game, its record, its players: 1, or 0 if it was opened, or another id stands for it by now."""

OPENED = Script("redis.call('SREM', KEYS[1], ARGV[1])", flags="allow-oom")

JOINS = Script(
    """
    local player, id = unpack(ARGV)
    redis.call('ZADD', KEYS[1], 0, player .. id)
    redis.call('ZADD', KEYS[2], 0, id .. player)
    """
)

MISSED = Script(
    """
    local player, id = unpack(ARGV)
    redis.call('ZREM', KEYS[1], player .. id)
    redis.call('ZREM', KEYS[2], id .. player)
    """,
    flags="allow-oom",
)

FORGET = Script(_FORGET_MEETING + "forget(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1])", flags="allow-oom")

REPLACE = Script(
    _ADD_MEETING
    + _FORGET_MEETING
    + """
    local games, unopened, by_player, by_game, instead, paired_before, paired = unpack(KEYS)
    local id, stored, fresh, record, players = unpack(ARGV)
    if (redis.call('HGET', games, id) or '') ~= stored then return 0 end
    redis.call('HSETNX', instead, id, fresh)
    if stored == '' then return 0 end
    local met, left_ms = redis.call('GET', paired_before), redis.call('PTTL', paired_before)
    add(games, unopened, by_player, by_game, fresh, record, players)
    if met then redis.call('SET', paired, met, 'PX', math.max(1, left_ms)) end
    redis.call('DEL', paired_before)
    forget(games, unopened, by_player, by_game, id)
    return 1
    """
)
"""Game, its record, the fresh id, the record under it, its players: 1, or 0 if it isn't arranged, or not like that."""

DISCOUNT = Script(
    """
    local paired, day = unpack(KEYS)
    local counted = redis.call('HEXISTS', day, ARGV[1]) == 1
    if redis.call('DEL', paired) == 1 and counted then redis.call('HINCRBY', day, ARGV[1], -1) end
    """,
    flags="allow-oom",
)
"""A void is none of the games that count between its players: once."""

_SIGN = (
    NOW_MS
    + """
    local function sign(servers, server, keep_ms, tried)
        local now_ms, last_ms = clock_ms(), tonumber(redis.call('ZSCORE', servers, server) or '0')
        if tried == '1' and last_ms > 0 and last_ms < now_ms - keep_ms / 2 then
            local were_there = string.format('%.0f', last_ms - keep_ms)
            local found = redis.call('ZRANGEBYSCORE', servers, were_there, '+inf', 'WITHSCORES')
            for at = 1, #found, 2 do
                local seen_ms = math.min(now_ms, tonumber(found[at + 1]) + now_ms - last_ms)
                redis.call('ZADD', servers, string.format('%.0f', seen_ms), found[at])
            end
        end
        redis.call('ZADD', servers, 'GT', string.format('%.0f', now_ms), server)
        return now_ms
    end
"""
)
"""A sign of a server. Who tried all the time, and can only now, knows that nobody could: that time counts for none."""

OFFER = Script(
    """
    local rematches, asked, offered = unpack(KEYS)
    local id, record = unpack(ARGV)
    if redis.call('HSETNX', rematches, id, record) == 1 then
        redis.call('ZADD', asked, 0, string.sub(record, 1, 16) .. id)
        redis.call('ZADD', offered, 0, string.sub(record, 17, 32) .. id)
    end
    return string.sub(redis.call('HGET', rematches, id), 1, 16)
    """
)

ACCEPT = Script(_REMOVE_REMATCH + "remove(ARGV[1])", flags="allow-oom")

WITHDRAW = Script(
    _REMOVE_REMATCH
    + """
    local player = ARGV[1]
    local others = {}
    for _, row in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], '[' .. player, '[' .. player .. string.rep('\\255', 16))) do
        others[#others + 1] = remove(string.sub(row, 17))
    end
    return others
    """,
    flags="allow-oom",
)

ENTER = Script(
    _SIGN
    + """
    local queue, queues, servers = unpack(KEYS)
    local rules, player, record, server, keep_ms, tried = unpack(ARGV)
    local before = redis.call('HGET', queue, player)
    if before then record = string.sub(before, 1, 8) .. string.sub(record, 9) end
    redis.call('HSET', queue, player, record)
    redis.call('SADD', queues, rules)
    sign(servers, server, keep_ms, tried)
    """
)
"""Who waits already waits from the same time on, which stands in the record's first eight bytes."""

LEAVE = Script(
    """
    local record = redis.call('HGET', KEYS[1], ARGV[1])
    if not record or (ARGV[2] ~= '' and string.sub(record, 9, 24) ~= ARGV[2]) then return 0 end
    return redis.call('HDEL', KEYS[1], ARGV[1])
    """,
    flags="allow-oom",
)

MOVE = Script(
    _SIGN
    + """
    local queue, servers = unpack(KEYS)
    local player, server, keep_ms, tried = unpack(ARGV)
    local record = redis.call('HGET', queue, player)
    if not record then return 0 end
    local now_ms = sign(servers, server, keep_ms, tried)
    local seen_ms = redis.call('ZSCORE', servers, string.sub(record, 9, 24))
    if not seen_ms or tonumber(seen_ms) < now_ms - keep_ms then
        redis.call('HDEL', queue, player)
        return 0
    end
    redis.call('HSET', queue, player, string.sub(record, 1, 8) .. server .. string.sub(record, 25))
    return 1
    """
)
"""Player, server, after how long without a sign a server is no more: 1, or 0 if he waits no longer."""

SIGN = Script(
    _SIGN
    + """
    local queue, servers, day = unpack(KEYS)
    local server, keep_ms, tried = unpack(ARGV)
    local now_ms = sign(servers, server, keep_ms, tried)
    redis.call('ZREMRANGEBYSCORE', servers, '-inf', '(' .. string.format('%.0f', now_ms - keep_ms))
    local waiting = {}
    local found = redis.call('HGETALL', queue)
    for at = 1, #found, 2 do
        if redis.call('ZSCORE', servers, string.sub(found[at + 1], 9, 24)) then
            waiting[#waiting + 1] = found[at]
            waiting[#waiting + 1] = found[at + 1]
        else
            redis.call('HDEL', queue, found[at])
        end
    end
    return {waiting, redis.call('HGETALL', day)}
    """
)
"""A sign of the server, without which entries are dropped; who waits, and who met today."""

PAIR = Script(
    _ADD_MEETING
    + """
    local queue, games, unopened, by_player, by_game, day = unpack(KEYS)
    local day_seconds, dropped, number = unpack(ARGV, 1, 3)
    local pairs_from = 4 + 2 * dropped
    for at = 4, pairs_from - 1, 2 do
        if redis.call('HGET', queue, ARGV[at]) == ARGV[at + 1] then redis.call('HDEL', queue, ARGV[at]) end
    end
    local arranged = {}
    for at = pairs_from, #ARGV, 8 do
        local one, one_record, other, other_record, id, record, met, times = unpack(ARGV, at, at + 7)
        local stand = redis.call('HGET', queue, one) == one_record and redis.call('HGET', queue, other) == other_record
        if stand and met ~= '' then stand = (redis.call('HGET', day, met) or '0') == times end
        if stand then
            redis.call('HDEL', queue, one, other)
            add(games, unopened, by_player, by_game, id, record, one .. other)
            if met ~= '' then
                redis.call('HINCRBY', day, met, 1)
                redis.call('EXPIRE', day, day_seconds)
                redis.call('SET', KEYS[7 + (at - pairs_from) / 8], number .. ' ' .. met, 'EX', day_seconds)
            end
            arranged[#arranged + 1] = id
        end
    end
    return arranged
    """
)
"""Each pair whose two entries stand as they were read, and who met as often as was read, is arranged; no other."""
