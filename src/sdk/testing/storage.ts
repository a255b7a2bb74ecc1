/** The conformance tests of storage backends. They run in vitest, which the package must install. */
export { type ConformanceStore, reopenableStore, storageConformance } from '#apiserver/storage/conformance';
