import { contribute } from 'kubenest/sdk';
import { DisallowWildcardRules } from './disallow-wildcard-rules.ts';
import { RestrictClusterAdmin } from './restrict-cluster-admin.ts';
import { RestrictEscalationVerbs } from './restrict-escalation-verbs.ts';
import { RestrictSystemSubjects } from './restrict-system-subjects.ts';

export default contribute(DisallowWildcardRules, RestrictClusterAdmin, RestrictEscalationVerbs, RestrictSystemSubjects);
