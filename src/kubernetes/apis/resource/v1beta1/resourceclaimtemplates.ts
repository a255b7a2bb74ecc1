import type { KubeObject } from '#apimachinery/meta/types';
import { inVersion } from '#apiserver/registry/in-version';
import { resourceClaimTemplateConversion } from '#kubernetes/apis/resource/conversion';
import v1 from '#kubernetes/apis/resource/v1/resourceclaimtemplates';
import { defaultResourceClaimTemplate } from './defaults.ts';

export default inVersion<KubeObject>(v1, 'v1beta1', {
  conversion: resourceClaimTemplateConversion,
  defaults: defaultResourceClaimTemplate,
});
