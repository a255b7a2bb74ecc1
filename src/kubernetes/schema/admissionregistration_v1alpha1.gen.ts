// The types of k8s.io/api/admissionregistration/v1alpha1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';

export interface ApplyConfiguration {
  expression?: string;
}

export interface JSONPatch {
  expression?: string;
}

export interface MatchCondition {
  name?: string;
  expression?: string;
}

export interface MatchResources {
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  resourceRules?: NamedRuleWithOperations[];
  excludeResourceRules?: NamedRuleWithOperations[];
  matchPolicy?: string;
}

export interface MutatingAdmissionPolicy extends KubeObject {
  spec?: MutatingAdmissionPolicySpec;
}

export interface MutatingAdmissionPolicyBinding extends KubeObject {
  spec?: MutatingAdmissionPolicyBindingSpec;
}

export interface MutatingAdmissionPolicyBindingList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: MutatingAdmissionPolicyBinding[];
}

export interface MutatingAdmissionPolicyBindingSpec {
  policyName?: string;
  paramRef?: ParamRef;
  matchResources?: MatchResources;
}

export interface MutatingAdmissionPolicyList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: MutatingAdmissionPolicy[];
}

export interface MutatingAdmissionPolicySpec {
  paramKind?: ParamKind;
  matchConstraints?: MatchResources;
  variables?: Variable[];
  mutations?: Mutation[];
  failurePolicy?: string;
  matchConditions?: MatchCondition[];
  reinvocationPolicy?: string;
}

export interface Mutation {
  patchType?: string;
  applyConfiguration?: ApplyConfiguration;
  jsonPatch?: JSONPatch;
}

export interface NamedRuleWithOperations {
  resourceNames?: string[];
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  scope?: string;
}

export interface ParamKind {
  apiVersion?: string;
  kind?: string;
}

export interface ParamRef {
  name?: string;
  namespace?: string;
  selector?: LabelSelector;
  parameterNotFoundAction?: string;
}

export interface Variable {
  name?: string;
  expression?: string;
}
