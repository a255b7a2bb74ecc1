/** Flags of servers that tests start as processes: by `KUBENEST_TEST_SERVING_WORKERS` some run with serving workers, as test clusters do. */
export function servingFlags(): string[] {
  const workers = process.env['KUBENEST_TEST_SERVING_WORKERS'];
  return workers ? [`--serving-workers=${workers}`] : [];
}
