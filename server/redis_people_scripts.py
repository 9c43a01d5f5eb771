"""The Lua scripts of people in Redis. All their keys lie in one slot, so each is one write: server/redis_people.py."""

from events.redis_script import Script

_NAMES = r"""
    local function parsed(record)
        local changed_ms, hidden, looks, text = string.match(record, '^(%d+) ([01]) ([^%z]*)%z(.*)$')
        return changed_ms, hidden, looks, text
    end
    local function record(changed_ms, hidden, looks, text)
        return changed_ms .. ' ' .. hidden .. ' ' .. looks .. '\0' .. text
    end
    local function unname(names, looks, player)
        local before = redis.call('HGET', names, player)
        if not before then return end
        local _, _, skeleton = parsed(before)
        redis.call('HDEL', looks, skeleton)
        redis.call('HDEL', names, player)
    end
"""

JOIN = Script(
    """
    local players, tokens, ids = unpack(KEYS)
    local player, hash, created_ms = unpack(ARGV)
    redis.call('HSET', players, player, hash .. created_ms)
    redis.call('HSET', tokens, hash, player)
    redis.call('ZADD', ids, 0, player)
    """
)

RENEW = Script(
    """
    local players, tokens = unpack(KEYS)
    local before, fresh, channel = unpack(ARGV)
    local player = redis.call('HGET', tokens, before)
    if not player then return 0 end
    local created_ms = string.sub(redis.call('HGET', players, player), 33)
    redis.call('HDEL', tokens, before)
    redis.call('HSET', tokens, fresh, player)
    redis.call('HSET', players, player, fresh .. created_ms)
    redis.pcall('SPUBLISH', channel, before)
    return 1
    """
)

CHOOSE = Script(
    _NAMES
    + """
    local players, names, looks = unpack(KEYS)
    local player, text, skeleton, now_ms, change_ms = unpack(ARGV)
    local hidden = '0'
    local before = redis.call('HGET', names, player)
    local changed_ms, was_hidden, was, was_called
    if before then
        changed_ms, was_hidden, was, was_called = parsed(before)
        if was_called == text then return 'kept' end
    end
    if redis.call('HEXISTS', players, player) == 0 then return 'kept' end
    if before then
        local wait_ms = changed_ms + change_ms - now_ms
        if wait_ms > 0 then return string.format('%.0f', wait_ms) end
        if was == skeleton then hidden = was_hidden end
    end
    local owner = redis.call('HGET', looks, skeleton)
    if owner and owner ~= player then return 'taken' end
    unname(names, looks, player)
    redis.call('HSET', looks, skeleton, player)
    redis.call('HSET', names, player, record(now_ms, hidden, skeleton, text))
    return 'kept'
    """
)

HIDE = Script(
    _NAMES
    + """
    local before = redis.call('HGET', KEYS[1], ARGV[1])
    if not before then return 0 end
    local changed_ms, _, looks, text = parsed(before)
    redis.call('HSET', KEYS[1], ARGV[1], record(changed_ms, ARGV[2], looks, text))
    return 1
    """
)

ERASE = Script(
    _NAMES
    + """
    local players, tokens, names, looks, erased = unpack(KEYS)
    local player, channel = unpack(ARGV)
    unname(names, looks, player)
    local known = redis.call('HGET', players, player)
    if not known then return 0 end
    local hash = string.sub(known, 1, 32)
    redis.call('SADD', erased, player)
    redis.call('HDEL', tokens, hash)
    redis.call('HDEL', players, player)
    redis.pcall('SPUBLISH', channel, hash)
    return 1
    """,
    flags="allow-oom",
)
"""Also where memory is full: it takes more than it adds."""

PAGE = Script(
    """
    local ids, players, names = unpack(KEYS)
    local found = {}
    for _, player in ipairs(redis.call('ZRANGEBYLEX', ids, ARGV[1], '+', 'LIMIT', 0, ARGV[2])) do
        found[#found + 1] = player
        found[#found + 1] = redis.call('HGET', players, player) or ''
        found[#found + 1] = redis.call('HGET', names, player) or ''
    end
    return found
    """,
    flags="no-writes",
)

PUT = Script(
    _NAMES
    + """
    local players, tokens, names, looks, erased, ids = unpack(KEYS)
    local left_out = {}
    for at = 1, #ARGV, 7 do
        local player, hash, created_ms, changed_ms, hidden, skeleton, text = unpack(ARGV, at, at + 6)
        if redis.call('SISMEMBER', erased, player) == 0 then
            local before = redis.call('HGET', players, player)
            if before then redis.call('HDEL', tokens, string.sub(before, 1, 32)) end
            unname(names, looks, player)
            redis.call('ZADD', ids, 0, player)
            if hash == '' then
                redis.call('HDEL', players, player)
                redis.call('SADD', erased, player)
            else
                redis.call('HSET', players, player, hash .. created_ms)
                redis.call('HSET', tokens, hash, player)
                if text ~= '' and redis.call('HEXISTS', looks, skeleton) == 1 then
                    left_out[#left_out + 1] = player
                elseif text ~= '' then
                    redis.call('HSET', looks, skeleton, player)
                    redis.call('HSET', names, player, record(changed_ms, hidden, skeleton, text))
                end
            end
        end
    end
    return left_out
    """
)
