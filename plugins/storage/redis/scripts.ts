/**
 * The Lua scripts, each an atomic operation of the store. Under a prefix `p` there are
 *
 *     p:rev      the revision of the last write (1 in an empty store)
 *     p:compact  the revision of the last compaction
 *     p:cur      hash: key -> `revision:createRevision` of the current record
 *     p:keys     sorted set, all scores 0: the keys that have versions, in byte order
 *     p:h:KEY    sorted set, score = revision: the versions of a key, `revision:createRevision:P` + value, or `…:D` for a deletion
 *     p:events   stream, id = `revision-0`: k = key, o = P or D, r = the previous revision (0: none), w = a mark that distinguishes
 *                this write from another one with the same revision in a lost history
 *     p:ttl      sorted set, score = milliseconds since the epoch: expiring keys
 *     p:epoch    the number of lost histories (see `adopt`), shared by all servers
 *     p:failover the last known promotion of a replica to master
 *
 * Values are stored only in the versions; readers of the stream look them up there.
 *
 * Without memory (`maxmemory`), redis rejects scripts that may need more, except those that start with `evenIfFull`: scripts
 * that release memory, and those required before the store can be read.
 *
 * Reading scripts start with `GETEX`, which without options equals `GET` but counts as a write: a demoted master rejects it,
 * and so does a master without its required replicas (`min-replicas-to-write`), whereas `GET` would return stale data.
 * Scripts that must be rejected without memory start with `GET`, because redis rejects nothing after a script's first write.
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
 * ARGV: prefix, the revision before those that the values were encoded for, the mark of the writes, then for each write: P
 * or D, key, expected revision (0: none), revision, milliseconds to live (0: unlimited), value. Returns ['base', revision]
 * without effects if the current revision differs; otherwise ['done', result…], where each result is the createRevision, or
 * 0 if the key is not at the expected revision.
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

/** A variant of `commit` for batches of only deletions. */
export const commitDeletions = `${evenIfFull}${commit}`;

/**
 * ARGV: prefix, limit, the mark of the writes. Deletes expired keys and returns their number. Safe for concurrent calls by
 * several servers.
 */
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

/** ARGV: prefix, key, revision or ''. Returns [current revision, compact revision, version or '']. */
export const read = `
local p = ARGV[1]
local current = redis.call('GETEX', p .. ':rev') or '1'
local at = ARGV[3] == '' and '+inf' or ARGV[3]
local found = redis.call('ZREVRANGEBYSCORE', p .. ':h:' .. ARGV[2], at, '-inf', 'LIMIT', 0, 1)
return { current, redis.call('GET', p .. ':compact') or '0', found[1] or '' }`;

/**
 * ARGV: prefix, first and last bound of keys (as in ZRANGEBYLEX), revision, maximum number of versions to return and of keys
 * to examine. Returns [compact revision, last examined key or '', number of records, key, version, key, version…].
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
 * ARGV: prefix, revision, limit. Returns [compact revision, then for each later event: revision, key, P or D, its version,
 * the previous version or '']. A version that was compacted meanwhile is ''.
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

/** ARGV: prefix, revision. Returns [current revision, previous compact revision]; accepts only a revision between them. */
export const startCompaction = `${evenIfFull}
local p = ARGV[1]
local current, before = redis.call('GETEX', p .. ':rev') or '1', redis.call('GETEX', p .. ':compact') or '0'
local wanted = tonumber(ARGV[2])
if wanted > tonumber(before) and wanted <= tonumber(current) then redis.call('SET', p .. ':compact', ARGV[2]) end
return { current, before }`;

/**
 * ARGV: prefix, revision, limit. Removes data older than the keys' versions at the revision; returns the number of processed
 * events.
 */
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

/** Number of revisions skipped because they may have been assigned and lost; more than a replica can lag behind. */
const passedOver = 1_000_000;

/**
 * Verifies after a reconnect that the store has the history seen before. ARGV: prefix, the highest revision seen, the
 * revision and the mark of the last event seen, and the id of this master's promotion ('' if it was never a replica). If the
 * revision is lower, the event differs or is missing, or the promotion is new, writes may have been lost: the script raises
 * the revision above all that were assigned and removes the past, so that every watch restarts and no revision has two
 * states. Returns [revision, the epoch before, the epoch now]; the epoch counts such losses.
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

/**
 * ARGV: prefix, revision. Raises the revision and removes the past, unless the revision is reached already. Returns the
 * revision.
 */
export const raise = `
local p = ARGV[1]
local current = redis.call('GET', p .. ':rev') or '1'
if tonumber(current) >= tonumber(ARGV[2]) then return current end
redis.call('SET', p .. ':rev', ARGV[2])
redis.call('SET', p .. ':compact', ARGV[2])
return ARGV[2]`;
