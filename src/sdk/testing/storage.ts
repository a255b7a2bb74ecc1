/** The tests that every storage backend has to pass; they run in vitest, which the package must have. */
export { type ConformanceStore, reopenableStore, storageConformance } from '#apiserver/storage/conformance';
