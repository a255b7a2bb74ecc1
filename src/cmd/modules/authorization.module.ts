import { type DynamicModule, Module } from '@nestjs/common';
import { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { Informers } from '#apiserver/registry/informers';
import { PrivilegedGroups } from '#plugins/authorization/privileged-groups';
import { authorizers } from '#cmd/builtin-plugins';
import type { AuthorizationMode } from '#cmd/server-config';

/** The union of the authorizers of `--authorization-mode`, in its order, behind system:masters, and its guard. */
@Module({})
export class AuthorizationModule {
  static register(modes: readonly AuthorizationMode[]): DynamicModule {
    return {
      module: AuthorizationModule,
      global: true,
      providers: [
        {
          provide: UnionAuthorizer,
          useFactory: (informers: Informers) =>
            new UnionAuthorizer([new PrivilegedGroups(), ...modes.map((mode) => new authorizers[mode](informers))]),
          inject: [Informers],
        },
        AuthorizationGuard,
      ],
      exports: [UnionAuthorizer, AuthorizationGuard],
    };
  }
}
