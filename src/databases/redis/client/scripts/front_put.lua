-- Remembers an entry, if the token is still the record's and nothing newer is known.
-- KEYS entry  ARGV token, fence, rank, entry, time to live in ms
local old = redis.call('GETRANGE', KEYS[1], 0, 16)
if old:sub(2, 9) ~= ARGV[1] then return 0 end
local ranks = {o = 0, g = 1, h = 1, r = 2, f = 2}
local rank, fence = ranks[old:sub(1, 1)] or 0, 0
if rank > 0 then fence = struct.unpack('>I8', old, 10) end
local new = tonumber(ARGV[2])
if new < fence or (new == fence and tonumber(ARGV[3]) <= rank) then return 0 end
redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[5])
return 1
