/** What tests of plugins need. */
export { type AdmissionRow, admissionTable } from './admission-table.ts';
export { fakeInformers } from './fake-informers.ts';
