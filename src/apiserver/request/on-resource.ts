import type { ExecutionContext } from '@nestjs/common';
import type { Operation } from './admission-context.ts';
import type { GroupVersionResource } from '#apimachinery/meta/types';

/** The write that a controller method performs. */
export interface ResourceWrite extends GroupVersionResource {
  readonly operation: Extract<Operation, 'CREATE' | 'UPDATE'>;
}

const metadataKey = 'kubenest:on-resource';

/**
 * Declares the write that a method of a Nest controller performs. The AuthorizationGuard authorizes the verb on the resource, with the
 * namespace and the name from the route's parameters `namespace` and `name`; the AdmissionInterceptor admits the body as an object of the
 * resource.
 */
export function OnResource(write: ResourceWrite): MethodDecorator {
  return (_target, _key, descriptor) => Reflect.defineMetadata(metadataKey, write, descriptor.value as object);
}

/** The write of a request, with the namespace and the name from its route. */
export interface PlacedWrite extends ResourceWrite {
  readonly namespace: string;
  readonly name: string;
}

/** Returns the write of an execution; undefined if the method does not declare one. */
export function writeOf(execution: ExecutionContext): PlacedWrite | undefined {
  const write = Reflect.getMetadata(metadataKey, execution.getHandler()) as ResourceWrite | undefined;
  if (!write) return undefined;
  const { params = {} } = execution.switchToHttp().getRequest<{ readonly params?: Readonly<Record<string, string>> }>();
  return { ...write, namespace: params['namespace'] ?? '', name: params['name'] ?? '' };
}
