-- An attempt's own gate becomes something else; its head stays.
-- KEYS entry  ARGV fence and owner, kinds that may, the new kind, what follows the head, time to
--                  live in ms, perhaps 'publish'
local head = redis.call('GETRANGE', KEYS[1], 0, 77)
local kind = head:sub(1, 1)
-- An end that meets only a token takes it away: who holds it may have seen the attempt under way.
if kind == 'o' and ARGV[3] ~= 'g' then return redis.call('UNLINK', KEYS[1]) end
if (kind ~= 'g' and kind ~= 'h') or head:sub(10, 33) ~= ARGV[1] then return 0 end
if not ARGV[2]:find(kind, 1, true) then return redis.call('UNLINK', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[3] .. head:sub(2) .. ARGV[4], 'PX', ARGV[5])
if ARGV[6] == 'publish' then redis.pcall('PUBLISH', KEYS[1], '') end
return 1
