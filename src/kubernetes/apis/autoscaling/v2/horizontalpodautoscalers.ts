import { defineResource } from '#apiserver/registry/resource-definition';
import { horizontalPodAutoscalerColumns, horizontalPodAutoscalerStrategy } from '#kubernetes/apis/autoscaling/horizontalpodautoscaler';
import { validateHorizontalPodAutoscalerStatusUpdate } from '#kubernetes/apis/autoscaling/validation/horizontal-pod-autoscaler';
import { statusSubresource } from '#kubernetes/apis/strategy';
import type { HorizontalPodAutoscaler } from '#kubernetes/schema/autoscaling_v2.gen';
import { defaultHorizontalPodAutoscaler } from './defaults.ts';

export default defineResource<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  resource: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  storageVersionHash: 'qwQve8ut294=',
  schema: 'autoscaling_v2.HorizontalPodAutoscaler',
  storagePath: 'horizontalpodautoscalers',
  defaults: defaultHorizontalPodAutoscaler,
  columns: horizontalPodAutoscalerColumns,
  strategy: horizontalPodAutoscalerStrategy,
  subresources: {
    status: statusSubresource({ strategy: { validateUpdate: validateHorizontalPodAutoscalerStatusUpdate } }),
  },
});
