import { Quantity } from 'kubenest/sdk';
import type { Container, Pod } from 'kubenest/types/core_v1';
import { containersOf } from '../pods/container-roles.ts';
import { settingOf } from '../pods/settings.ts';

/** Simulated use of resources: CPU in thousandths, memory in bytes. */
export interface Usage {
  readonly milliCpu: number;
  readonly memoryBytes: number;
}

export interface ContainerUsage extends Usage {
  readonly container: string;
  readonly startedAt: string;
}

/** Share of its request that a container uses. */
const usedShare = 0.5;
const withoutRequest: Usage = { milliCpu: 1, memoryBytes: 10 * 1024 * 1024 };

/** Usage of the running containers of a pod: by annotation, or half of the requests. */
export function usageOfPod(pod: Pod): ContainerUsage[] {
  return containersOf(pod, pod.status).flatMap(({ container, status }) => {
    const startedAt = status?.state?.running?.startedAt;
    return startedAt === undefined ? [] : [{ container: container.name ?? '', startedAt, ...usageOf(pod, container) }];
  });
}

function usageOf(pod: Pod, container: Container): Usage {
  const { cpu, memory } = container.resources?.requests ?? {};
  const given = (name: 'cpu' | 'memory'): Quantity | undefined => quantity(settingOf(pod, name, container.name));
  const requested = { cpu: quantity(cpu), memory: quantity(memory) };
  const milliCpu = given('cpu')?.milliValue();
  const memoryBytes = given('memory')?.value();
  return {
    milliCpu: milliCpu !== undefined ? Number(milliCpu) : shareOf(requested.cpu?.milliValue(), withoutRequest.milliCpu),
    memoryBytes: memoryBytes !== undefined ? Number(memoryBytes) : shareOf(requested.memory?.value(), withoutRequest.memoryBytes),
  };
}

/** Returns undefined for a missing or invalid text. */
function quantity(text: string | undefined): Quantity | undefined {
  if (text === undefined) return undefined;
  try {
    return Quantity.parse(text);
  } catch {
    return undefined;
  }
}

const shareOf = (requested: bigint | undefined, otherwise: number): number =>
  requested === undefined || requested === 0n ? otherwise : Math.ceil(Number(requested) * usedShare);

export function sumOf(usages: readonly Usage[]): Usage {
  return {
    milliCpu: usages.reduce((sum, { milliCpu }) => sum + milliCpu, 0),
    memoryBytes: usages.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
  };
}

/** Quantities of a usage. */
export function quantitiesOf({ milliCpu, memoryBytes }: Usage): { readonly cpu: string; readonly memory: string } {
  return { cpu: `${milliCpu}m`, memory: `${Math.ceil(memoryBytes / 1024)}Ki` };
}
