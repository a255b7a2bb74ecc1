import { deprecated } from '#apiserver/registry/deprecation';
import { inVersion } from '#apiserver/registry/in-version';
import v1 from '#kubernetes/apis/admissionregistration/v1/mutatingadmissionpolicies';

export default inVersion(v1, 'v1alpha1', deprecated('admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy', '1.35', '1.38'));
