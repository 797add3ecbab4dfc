-- KEYS record  ARGV now
return {now, redis.call('GET', KEYS[1])}
