import type { Column, Strategy, StrategyContext } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import {
  validateHorizontalPodAutoscaler,
  validateHorizontalPodAutoscalerUpdate,
} from '#kubernetes/apis/autoscaling/validation/horizontal-pod-autoscaler';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { withoutStatus } from '#kubernetes/apis/strategy';
import type {
  HorizontalPodAutoscaler,
  HPAScalingRules,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '#kubernetes/schema/autoscaling_v2.gen';

/**
 * Drops the fields of the gate HPAConfigurableTolerance. Upstream: dropDisabledFields in
 * pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go.
 */
function dropTolerance({ spec }: HorizontalPodAutoscaler, old: HorizontalPodAutoscaler | undefined, { isEnabled }: StrategyContext): void {
  if (isEnabled?.('HPAConfigurableTolerance') !== false || rulesOf(old).some(({ tolerance }) => tolerance !== undefined)) return;
  for (const rules of [spec?.behavior?.scaleDown, spec?.behavior?.scaleUp]) delete rules?.tolerance;
}

function rulesOf(autoscaler: HorizontalPodAutoscaler | undefined): HPAScalingRules[] {
  const { scaleDown, scaleUp } = autoscaler?.spec?.behavior ?? {};
  return [scaleDown, scaleUp].filter((rules) => rules !== undefined);
}

export const horizontalPodAutoscalerStrategy: Strategy<HorizontalPodAutoscaler> = withoutStatus({
  prepareForCreate: (autoscaler, context) => dropTolerance(autoscaler, undefined, context),
  prepareForUpdate: dropTolerance,
  validate: validateHorizontalPodAutoscaler,
  validateUpdate: validateHorizontalPodAutoscalerUpdate,
});

/** Formats `10/20`, or `10/20 (avg)` if the target is an average. */
function valueText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? '<unknown>'}/${target.averageValue} (avg)`;
  return `${current ? (current.value ?? '<nil>') : '<unknown>'}/${target?.value ?? '<nil>'}`;
}

function percent(value: number | undefined, otherwise: string): string {
  return value === undefined ? otherwise : `${value}%`;
}

/** Formats `cpu: 50%/80%`, or `cpu: 100m/200m` if the target is an amount. */
function resourceText(name: string | undefined, target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined)
    return `${name ?? ''}: ${current ? (current.averageValue ?? '<nil>') : '<unknown>'}/${target.averageValue}`;
  return `${name ?? ''}: ${percent(current?.averageUtilization, '<unknown>')}/${percent(target?.averageUtilization, '<auto>')}`;
}

function metricText(spec: MetricSpec, status: MetricStatus | undefined): string {
  switch (spec.type) {
    case 'External':
      return valueText(spec.external?.target, status?.external?.current);
    case 'Object':
      return valueText(spec.object?.target, status?.object?.current);
    case 'Pods':
      return `${status?.pods ? (status.pods.current?.averageValue ?? '<nil>') : '<unknown>'}/${spec.pods?.target?.averageValue ?? '<nil>'}`;
    case 'Resource':
      return resourceText(spec.resource?.name, spec.resource?.target, status?.resource?.current);
    case 'ContainerResource':
      return resourceText(spec.containerResource?.name, spec.containerResource?.target, status?.containerResource?.current);
    default:
      return '<unknown type>';
  }
}

/** Formats the first two metrics as current/target, and the number of further ones. Upstream: printers.go, formatHPAMetrics. */
export function metricsText(specs: readonly MetricSpec[] | undefined, statuses: readonly MetricStatus[] | null | undefined): string {
  if (!specs?.length) return '<none>';
  const text = specs
    .slice(0, 2)
    .map((spec, i) => metricText(spec, statuses?.[i]))
    .join(', ');
  return specs.length > 2 ? `${text} + ${specs.length - 2} more...` : text;
}

const spec = 'autoscaling_v2.HorizontalPodAutoscalerSpec';

/** Columns of both versions, which are stored as autoscaling/v2. */
export const horizontalPodAutoscalerColumns: readonly Column<HorizontalPodAutoscaler>[] = [
  nameColumn,
  stringColumn(
    'Reference',
    describe(spec, 'scaleTargetRef'),
    ({ spec }) => `${spec?.scaleTargetRef?.kind ?? ''}/${spec?.scaleTargetRef?.name ?? ''}`,
  ),
  stringColumn('Targets', describe(spec, 'metrics'), ({ spec, status }) => metricsText(spec?.metrics, status?.currentMetrics)),
  stringColumn('MinPods', describe(spec, 'minReplicas'), ({ spec }) => String(spec?.minReplicas ?? '<unset>')),
  stringColumn('MaxPods', describe(spec, 'maxReplicas'), ({ spec }) => spec?.maxReplicas ?? 0),
  stringColumn(
    'Replicas',
    describe('autoscaling_v2.HorizontalPodAutoscalerStatus', 'currentReplicas'),
    ({ status }) => status?.currentReplicas ?? 0,
  ),
  ageColumn,
];
