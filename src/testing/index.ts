/** Tests against a real Kubernetes API server inside the test's process. */
export { startTestCluster, type TestCluster, type TestClusterOptions, type TestStorage, type TestUser } from './start-test-cluster.ts';
export type { TestRequest } from './test-request.ts';
