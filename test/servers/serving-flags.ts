/**
 * Flags of servers that tests start as processes: with serving workers by `KUBENEST_TEST_SERVING_WORKERS`, with another implementation of HTTP/2
 * by `KUBENEST_TEST_HTTP2_SERVER`, as test clusters.
 */
export function servingFlags(): string[] {
  const workers = process.env['KUBENEST_TEST_SERVING_WORKERS'];
  const http2Server = process.env['KUBENEST_TEST_HTTP2_SERVER'];
  return [...(workers ? [`--serving-workers=${workers}`] : []), ...(http2Server ? [`--http2-server=${http2Server}`] : [])];
}
