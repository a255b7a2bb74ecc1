/** Helpers for tests of plugins. */
export { type AdmissionRow, admissionTable, type AdmissionTableOptions } from './admission-table.ts';
export { FakeClock, turn } from '#apiserver/base/fake-clock';
export { fakeInformers } from './fake-informers.ts';
export { FakeCluster, type RecordedEvent, type RecordedWrite } from './fake-cluster.ts';
export { fakeAuthorizer, fakeClient, type FakeClientMethods, fakeServices } from './fake-services.ts';
export { type ReconcileRow, reconcileTable, type ReconcileTableOptions } from './reconcile-table.ts';
