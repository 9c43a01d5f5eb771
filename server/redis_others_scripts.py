"""The Lua scripts of what servers tell each other through Redis. All keys lie in one slot: server/redis_others.py."""

from events.redis_script import Script
from events.redis_scripts import NOW_MS

SIGN = Script(
    NOW_MS
    + """
    local servers, state, players, watchers = unpack(KEYS)
    local server, before, after, keep_ms, version, lobby, came, went = unpack(ARGV, 1, 8)
    if before == '' then
        redis.call('UNLINK', state, players, watchers)
    elseif redis.call('HGET', state, 'signs') ~= before then
        return 0
    end
    redis.call('HSET', state, 'signs', after)
    if version ~= '' then redis.call('HSET', state, 'version', version, 'lobby', lobby) end
    local at = 9
    for number = at, at + came - 1 do redis.call('SADD', players, ARGV[number]) end
    at = at + came
    for number = at, at + went - 1 do redis.call('SREM', players, ARGV[number]) end
    for number = at + went, #ARGV, 2 do
        if ARGV[number + 1] == '0' then
            redis.call('HDEL', watchers, ARGV[number])
        else
            redis.call('HSET', watchers, ARGV[number], ARGV[number + 1])
        end
    end
    for _, key in ipairs({state, players, watchers}) do redis.call('PEXPIRE', key, keep_ms) end
    local now_ms = clock_ms()
    redis.call('ZADD', servers, string.format('%.0f', now_ms), server)
    redis.call('ZREMRANGEBYSCORE', servers, '-inf', string.format('%.0f', now_ms - keep_ms))
    return redis.call('ZREVRANGE', servers, 0, -1)
    """
)
"""0: what the others hold of this server isn't what it takes them to; nothing was written."""

END = Script(
    """
    local servers, state, players, watchers = unpack(KEYS)
    redis.call('ZREM', servers, ARGV[1])
    redis.call('UNLINK', state, players, watchers)
    """,
    flags="allow-oom",
)
