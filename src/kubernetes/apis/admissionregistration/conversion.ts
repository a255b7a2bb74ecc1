import type { VersionConversion } from '#apiserver/registry/resource-definition';

/** v1 and v1beta1 have the same fields; v1beta1 is what is stored. */
export const v1beta1Storage: VersionConversion = {
  toStorage: (object) => ({ ...object, apiVersion: 'admissionregistration.k8s.io/v1beta1' }),
  fromStorage: (object) => ({ ...object, apiVersion: 'admissionregistration.k8s.io/v1' }),
};
