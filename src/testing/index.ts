/** Tests against a real Kubernetes API server inside the test's process. */
export {
  startTestCluster,
  type TestCluster,
  type TestClusterOptions,
  type TestStorage,
  type TestRequest,
  type TestUser,
} from './start-test-cluster.ts';
