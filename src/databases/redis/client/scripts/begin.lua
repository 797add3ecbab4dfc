-- Claims a record that is not there; anything else goes back to be judged by the record machine.
-- KEYS record  ARGV now, format and state, owner, lease, time to live in ms or '', the rest
local old = redis.call('GET', KEYS[1])
if old then return {now, old} end
local new = ARGV[2]
    .. struct.pack('>I8c16I4i8i8i8i8i8i8', now, ARGV[3], 1, now, 0, 0, now + ARGV[4], now, now)
    .. ARGV[6]
if ARGV[5] == '' then
    redis.call('SET', KEYS[1], new)
else
    redis.call('SET', KEYS[1], new, 'PX', ARGV[5])
end
return now
