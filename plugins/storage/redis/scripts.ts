/**
 * The Lua scripts: each is one atomic step of the store. Under a prefix `p` there are
 *
 *     p:rev      the revision of the last write (1 in an empty store)
 *     p:compact  the revision of the last compaction
 *     p:cur      hash: key -> `revision:createRevision` of what is there now
 *     p:keys     sorted set, all scores 0: the keys that have versions, in the order of their bytes
 *     p:h:KEY    sorted set, score = revision: the versions of a key, `revision:createRevision:P` + value, or `…:D` for a deletion
 *     p:events   stream, id = `revision-0`: k = key, o = P or D, r = the revision before (0: none), w = what tells this write from
 *                another that got the same revision in a past that was lost
 *     p:ttl      sorted set, score = milliseconds since the epoch: keys that expire
 *     p:epoch    counts how often the past was given up (see `adopt`): each server tells it, whichever of them found it out
 *     p:failover the last promotion of a replica to the master that is known
 *
 * Values stand in the versions alone; who reads the stream gets them from there.
 *
 * Redis with no memory left (`maxmemory`) refuses what may need more, except in scripts that begin with `evenIfFull`: those by which memory
 * is given back, and what has to be settled before the store can be read.
 *
 * Scripts that read begin with `GETEX`. Without options it is `GET`, but one of the writes: a server that has been made a replica refuses
 * it, and so does a master that has lost its replicas (`min-replicas-to-write`). `GET` would answer what was true once. Scripts
 * that are to be refused without memory begin with `GET`: after the first of the writes redis refuses a script nothing more.
 */

const evenIfFull = '#!lua flags=allow-oom\n';

const apply = `
local function text(number) return string.format('%.0f', number) end
local function put(p, at, key, operation, previous, created, value, mark_of_write)
  local mark = text(at) .. ':' .. text(created) .. ':' .. operation
  redis.call('ZADD', p .. ':h:' .. key, text(at), mark .. value)
  redis.call('ZADD', p .. ':keys', 0, key)
  if operation == 'P' then redis.call('HSET', p .. ':cur', key, text(at) .. ':' .. text(created))
  else redis.call('HDEL', p .. ':cur', key) end
  redis.call('XADD', p .. ':events', text(at) .. '-0', 'k', key, 'o', operation, 'r', text(previous), 'w', mark_of_write)
end
local function present(p, key)
  local state = redis.call('HGET', p .. ':cur', key)
  if not state then return 0, 0 end
  local at = string.find(state, ':', 1, true)
  return tonumber(string.sub(state, 1, at - 1)), tonumber(string.sub(state, at + 1))
end
local function milliseconds()
  local now = redis.call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end
`;

/**
 * ARGV: prefix, the revision that the values were made for to follow, the mark of the writes, then for each write: P or D, key, expected revision (0:
 * none), revision, milliseconds to live (0: for ever), value. Answers ['base', revision] if the revision is another: nothing
 * has happened. Else ['done', result…], a result being the createRevision, or 0 if the key is at another revision than expected.
 */
export const commit = `${apply}
local p = ARGV[1]
local base = tonumber(redis.call('GET', p .. ':rev') or '1')
if base ~= tonumber(ARGV[2]) then return { 'base', text(base) } end
local out, last = { 'done' }, base
for i = 4, #ARGV, 6 do
  local operation, key, expected, at, ttl = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4])
  local current, created = present(p, key)
  if current ~= expected then
    out[#out + 1] = '0'
  else
    if current == 0 then created = at end
    put(p, at, key, operation, current, created, ARGV[i + 5], ARGV[3])
    if ttl > 0 then redis.call('ZADD', p .. ':ttl', text(milliseconds() + ttl), key) else redis.call('ZREM', p .. ':ttl', key) end
    last = at
    out[#out + 1] = text(created)
  end
end
redis.call('SET', p .. ':rev', text(last))
return out`;

/** The same for batches of nothing but deletions. */
export const commitDeletions = `${evenIfFull}${commit}`;

/** ARGV: prefix, most, the mark of the writes. Deletes what has expired; answers how many. Several servers may call it: each key goes once. */
export const expire = `${evenIfFull}${apply}
local p = ARGV[1]
local due = redis.call('ZRANGEBYSCORE', p .. ':ttl', '-inf', text(milliseconds()), 'LIMIT', 0, ARGV[2])
local last = tonumber(redis.call('GETEX', p .. ':rev') or '1')
for _, key in ipairs(due) do
  local current, created = present(p, key)
  if current > 0 then
    last = last + 1
    put(p, last, key, 'D', current, created, '', ARGV[3])
  end
  redis.call('ZREM', p .. ':ttl', key)
end
if #due > 0 then redis.call('SET', p .. ':rev', text(last)) end
return #due`;

/** ARGV: prefix, key, revision or ''. Answers [current revision, compacted revision, version or '']. */
export const read = `
local p = ARGV[1]
local current = redis.call('GETEX', p .. ':rev') or '1'
local at = ARGV[3] == '' and '+inf' or ARGV[3]
local found = redis.call('ZREVRANGEBYSCORE', p .. ':h:' .. ARGV[2], at, '-inf', 'LIMIT', 0, 1)
return { current, redis.call('GET', p .. ':compact') or '0', found[1] or '' }`;

/**
 * ARGV: prefix, first and last bound of keys (as ZRANGEBYLEX has them), revision, how many versions to send, how many keys to
 * look at. Answers [compacted revision, last key looked at or '', how many are there, key, version, key, version…].
 */
export const page = `
local p = ARGV[1]
local compacted = redis.call('GETEX', p .. ':compact') or '0'
local keys = redis.call('ZRANGEBYLEX', p .. ':keys', ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[6])
local out, count, left = { '', '', '' }, 0, tonumber(ARGV[5])
for _, key in ipairs(keys) do
  local version = redis.call('ZREVRANGEBYSCORE', p .. ':h:' .. key, ARGV[4], '-inf', 'LIMIT', 0, 1)[1]
  if version and not string.find(version, '^%d+:%d+:D') then
    count = count + 1
    if left > 0 then
      left = left - 1
      out[#out + 1] = key
      out[#out + 1] = version
    end
  end
end
out[1], out[2], out[3] = compacted, keys[#keys] or '', tostring(count)
return out`;

/**
 * ARGV: prefix, revision, most. Answers [compacted revision, then for each event after the revision: revision, key, P or D, its
 * version, the version before or '']. A version that compaction has taken meanwhile is ''.
 */
export const events = `
local p = ARGV[1]
local function version(key, revision)
  if revision == '0' then return '' end
  return redis.call('ZRANGEBYSCORE', p .. ':h:' .. key, revision, revision)[1] or ''
end
local out = { redis.call('GETEX', p .. ':compact') or '0' }
for _, entry in ipairs(redis.call('XRANGE', p .. ':events', '(' .. ARGV[2] .. '-0', '+', 'COUNT', ARGV[3])) do
  local revision = string.sub(entry[1], 1, string.find(entry[1], '-', 1, true) - 1)
  local key, operation, previous = entry[2][2], entry[2][4], entry[2][6]
  out[#out + 1] = revision
  out[#out + 1] = key
  out[#out + 1] = operation
  out[#out + 1] = version(key, revision)
  out[#out + 1] = version(key, previous)
end
return out`;

/** ARGV: prefix, revision. Answers [current revision, compacted revision before]; compacts only what is between them. */
export const startCompaction = `${evenIfFull}
local p = ARGV[1]
local current, before = redis.call('GETEX', p .. ':rev') or '1', redis.call('GETEX', p .. ':compact') or '0'
local wanted = tonumber(ARGV[2])
if wanted > tonumber(before) and wanted <= tonumber(current) then redis.call('SET', p .. ':compact', ARGV[2]) end
return { current, before }`;

/** ARGV: prefix, revision, most. Forgets what is older than the keys' versions at the revision; answers how many events it went through. */
export const compactSome = `${evenIfFull}
local p = ARGV[1]
local entries = redis.call('XRANGE', p .. ':events', '-', ARGV[2] .. '-0', 'COUNT', ARGV[3])
for _, entry in ipairs(entries) do
  local key = entry[2][2]
  local history = p .. ':h:' .. key
  local found = redis.call('ZREVRANGEBYSCORE', history, ARGV[2], '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if found[1] then
    redis.call('ZREMRANGEBYSCORE', history, '-inf', '(' .. found[2])
    if string.find(found[1], '^%d+:%d+:D') then redis.call('ZREM', history, found[1]) end
    if redis.call('EXISTS', history) == 0 then redis.call('ZREM', p .. ':keys', key) end
  end
  redis.call('XDEL', p .. ':events', entry[1])
end
return #entries`;

/** Revisions that are passed over where some of them may have been given and lost: more than a replica can be behind. */
const passedOver = 1_000_000;

/**
 * Whether the store is the one that a server knew before its connection broke. ARGV: prefix, the highest revision that it has seen, the
 * revision and the mark of the last event that it has seen, and what names the promotion of this master ('' where it was
 * never a replica). Where the revision has gone back, where the event is another or gone, or where a promotion is news, writes
 * may have been lost: the revision is raised above all that were given, and the past is forgotten, so that every watch ends
 * and begins anew and no revision means two states. Answers [revision, the epoch before, the epoch now]: it counts how often that was so.
 */
export const adopt = `${evenIfFull}
local p = ARGV[1]
local current = tonumber(redis.call('GETEX', p .. ':rev') or '1')
local seen, at, promotion = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[5]
local function lost()
  if current < seen then return true end
  if promotion ~= '' and current > 1 and redis.call('GET', p .. ':failover') ~= promotion then return true end
  if at <= tonumber(redis.call('GETEX', p .. ':compact') or '0') or ARGV[4] == '' then return false end
  local id = string.format('%.0f', at) .. '-0'
  local entry = redis.call('XRANGE', p .. ':events', id, id)[1]
  return not entry or entry[2][8] ~= ARGV[4]
end
local isLost, epoch = lost(), redis.call('GET', p .. ':epoch') or '0'
if promotion ~= '' then redis.call('SET', p .. ':failover', promotion) end
if not isLost then return { string.format('%.0f', current), epoch, epoch } end
local raised = string.format('%.0f', math.max(current, seen) + ${passedOver})
redis.call('SET', p .. ':rev', raised)
redis.call('SET', p .. ':compact', raised)
return { raised, epoch, redis.call('INCR', p .. ':epoch') }`;

/** ARGV: prefix, revision. Raises the revision to it, and forgets the past, unless it is there already. Answers the revision. */
export const raise = `
local p = ARGV[1]
local current = redis.call('GET', p .. ':rev') or '1'
if tonumber(current) >= tonumber(ARGV[2]) then return current end
redis.call('SET', p .. ':rev', ARGV[2])
redis.call('SET', p .. ':compact', ARGV[2])
return ARGV[2]`;
