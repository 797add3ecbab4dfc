-- Stands before every script: the store's time in microseconds, or the test's.
local now = tonumber(ARGV[1])
if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
end
