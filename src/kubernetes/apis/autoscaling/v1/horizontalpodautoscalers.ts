import { defineResource } from '#apiserver/registry/resource-definition';
import { horizontalPodAutoscalerConversion } from '#kubernetes/apis/autoscaling/conversion';
import { horizontalPodAutoscalerColumns, horizontalPodAutoscalerStrategy } from '#kubernetes/apis/autoscaling/horizontalpodautoscaler';
import { validateHorizontalPodAutoscalerStatusUpdate } from '#kubernetes/apis/autoscaling/validation/horizontal-pod-autoscaler';
import { statusSubresource } from '#kubernetes/apis/strategy';
import type { HorizontalPodAutoscaler } from '#kubernetes/schema/autoscaling_v2.gen';
import { defaultHorizontalPodAutoscaler } from './defaults.ts';

/** Autoscalers are stored as autoscaling/v2: the strategy and the columns work on that version. */
export default defineResource<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  version: 'v1',
  kind: 'HorizontalPodAutoscaler',
  resource: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  storageVersionHash: 'qwQve8ut294=',
  schema: 'autoscaling_v1.HorizontalPodAutoscaler',
  storagePath: 'horizontalpodautoscalers',
  storageVersion: {
    version: { group: 'autoscaling', version: 'v2' },
    schema: 'autoscaling_v2.HorizontalPodAutoscaler',
    conversion: horizontalPodAutoscalerConversion,
  },
  defaults: defaultHorizontalPodAutoscaler,
  columns: horizontalPodAutoscalerColumns,
  strategy: horizontalPodAutoscalerStrategy,
  subresources: {
    status: statusSubresource({ strategy: { validateUpdate: validateHorizontalPodAutoscalerStatusUpdate } }),
  },
});
