/** Helpers for tests of plugins. */
export { type AdmissionRow, admissionTable, type AdmissionTableOptions } from './admission-table.ts';
export { fakeInformers } from './fake-informers.ts';
export { fakeAuthorizer, fakeClient, fakeServices } from './fake-services.ts';
