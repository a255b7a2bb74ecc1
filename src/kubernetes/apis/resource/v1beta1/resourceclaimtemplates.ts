import { deprecated } from '#apiserver/registry/deprecation';
import type { KubeObject } from '#apimachinery/meta/types';
import { inVersion } from '#apiserver/registry/in-version';
import { resourceClaimTemplateConversion } from '#kubernetes/apis/resource/conversion';
import v1 from '#kubernetes/apis/resource/v1/resourceclaimtemplates';
import { defaultResourceClaimTemplate } from './defaults.ts';

export default inVersion<KubeObject>(v1, 'v1beta1', {
  ...deprecated('resource.k8s.io/v1beta1 ResourceClaimTemplate', '1.35', '1.38'),
  conversion: resourceClaimTemplateConversion,
  defaults: defaultResourceClaimTemplate,
});
