-- Compare and set: writes what the record machine made of the record that was read. If the record
-- has changed since, returns the changed one instead.
-- KEYS record, audit  ARGV now, format to version as read ('' for nothing), new value, time to live
--                          in ms or '', wake 'publish' or 'none', audit entry or '', entries kept,
--                          the audit's time to live in ms
if redis.call('GETRANGE', KEYS[1], 0, 29) ~= ARGV[2] then
    return {now, redis.call('GET', KEYS[1])}
end
if ARGV[6] ~= '' then
    redis.call('RPUSH', KEYS[2], ARGV[6])
    redis.call('LTRIM', KEYS[2], -ARGV[7], -1)
    redis.call('PEXPIRE', KEYS[2], ARGV[8])
end
if ARGV[4] == '' then
    redis.call('SET', KEYS[1], ARGV[3])
else
    redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
end
if ARGV[5] == 'publish' then redis.pcall('PUBLISH', KEYS[1], '') end
return now
