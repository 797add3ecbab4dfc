-- complete and fail: the claim's own running record gets its end; anything else goes back.
-- KEYS record  ARGV now, format to owner, state, retention, retry delay or '', time to live in ms,
--                   checkpoints 'keep' or 'drop', wake 'publish' or 'none', error and result
local old = redis.call('GET', KEYS[1])
if not old or old:sub(1, 26) ~= ARGV[2] then return {now, old} end
local version = struct.unpack('>I4', old, 27)
local kept = 140 + struct.unpack('>I4', old, 137)
local checkpoints = '\0\0\0\0'
if ARGV[7] == 'keep' then
    checkpoints = old:sub(kept + 1, kept + 4 + struct.unpack('>I4', old, kept + 1))
end
local retry_after = 0
if ARGV[5] ~= '' then retry_after = now + ARGV[5] end
local new = old:sub(1, 1) .. ARGV[3] .. old:sub(3, 26)
    .. struct.pack('>I4i8i8i8', version + 1, now, now + ARGV[4], retry_after)
    .. old:sub(55, kept) .. checkpoints .. ARGV[9]
redis.call('SET', KEYS[1], new, 'PX', ARGV[6])
-- After the write, and never its undoing: not everybody may publish.
if ARGV[8] == 'publish' then redis.pcall('PUBLISH', KEYS[1], '') end
return now
