/** Helpers for tests of plugins. */
export { type AdmissionRow, admissionTable, type AdmissionTableOptions } from './admission-table.ts';
export { FakeClock, turn } from '#apiserver/base/fake-clock';
export { fakeInformers } from './fake-informers.ts';
export { fakeAuthorizer, fakeClient, fakeServices } from './fake-services.ts';
