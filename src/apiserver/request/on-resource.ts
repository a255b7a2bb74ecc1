import type { ExecutionContext } from '@nestjs/common';
import type { Operation } from './admission-context.ts';
import type { GroupVersionResource } from '#apimachinery/meta/types';

/** The write that a method of a controller is. */
export interface ResourceWrite extends GroupVersionResource {
  readonly operation: Extract<Operation, 'CREATE' | 'UPDATE'>;
}

const metadataKey = 'kubenest:on-resource';

/**
 * Says which write a method of a Nest controller is. The AuthorizationGuard then asks for the verb on the resource, in the namespace and of the
 * name that the route's parameters `namespace` and `name` have, and the AdmissionInterceptor admits the body as an object of the resource.
 */
export function OnResource(write: ResourceWrite): MethodDecorator {
  return (_target, _key, descriptor) => Reflect.defineMetadata(metadataKey, write, descriptor.value as object);
}

/** A write of a controller's method, with the place that its route names. */
export interface PlacedWrite extends ResourceWrite {
  readonly namespace: string;
  readonly name: string;
}

/** The write that an execution is; undefined where the method is none. */
export function writeOf(execution: ExecutionContext): PlacedWrite | undefined {
  const write = Reflect.getMetadata(metadataKey, execution.getHandler()) as ResourceWrite | undefined;
  if (!write) return undefined;
  const { params = {} } = execution.switchToHttp().getRequest<{ readonly params?: Readonly<Record<string, string>> }>();
  return { ...write, namespace: params['namespace'] ?? '', name: params['name'] ?? '' };
}
