import { deprecated } from '#apiserver/registry/deprecation';
import { inVersion } from '#apiserver/registry/in-version';
import v1beta1 from '#kubernetes/apis/certificates/v1beta1/clustertrustbundles';

export default inVersion(v1beta1, 'v1alpha1', deprecated('certificates.k8s.io/v1alpha1 ClusterTrustBundle', '1.34', '1.37'));
