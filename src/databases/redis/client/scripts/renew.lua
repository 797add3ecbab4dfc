-- The claim's own running record gets a longer lease, in place; anything else goes back.
-- KEYS record  ARGV now, format to owner, lease
local head = redis.call('GETRANGE', KEYS[1], 0, 101)
if head:sub(1, 26) ~= ARGV[2] then return {now, redis.call('GET', KEYS[1])} end
local version, _, _, _, lease_until, begun_at = struct.unpack('>I4i8i8i8i8i8', head, 27)
local last = begun_at + struct.unpack('>i8', head, 95)
if now >= last then return {now, redis.call('GET', KEYS[1])} end
lease_until = math.max(lease_until, math.min(now + ARGV[3], last))
redis.call('SETRANGE', KEYS[1], 26,
           struct.pack('>I4i8i8i8i8', version + 1, now, 0, 0, lease_until))
return {now, lease_until}
