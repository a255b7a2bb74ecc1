import { admissionTable } from 'kubenest/sdk/testing';
import { pod } from './test-objects.ts';
import { AlwaysAdmit, AlwaysDeny } from './always.ts';

admissionTable(AlwaysAdmit, [{ name: 'admits', object: pod() }]);
admissionTable(AlwaysDeny, [{ name: 'denies', object: pod(), denied: /denying all modifications/ }]);
