/**
 * Returns the flags of server processes: serving workers from `KUBENEST_TEST_SERVING_WORKERS` and the HTTP/2 implementation
 * from `KUBENEST_TEST_HTTP2_SERVER`, like those of test clusters.
 */
export function servingFlags(): string[] {
  const workers = process.env['KUBENEST_TEST_SERVING_WORKERS'];
  const http2Server = process.env['KUBENEST_TEST_HTTP2_SERVER'];
  return [...(workers ? [`--serving-workers=${workers}`] : []), ...(http2Server ? [`--http2-server=${http2Server}`] : [])];
}

/** Flag of server processes whose stored objects a test knows: no controller adds others. A further `--controllers` adds to it. */
export const withoutControllers = '--controllers=-*';
