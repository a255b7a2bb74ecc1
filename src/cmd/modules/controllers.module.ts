import { type DynamicModule, Module } from '@nestjs/common';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { PolicyScan } from '#apiserver/admission/scan/policy-scan';
import { TokenIssuer } from '#apiserver/authentication/token-issuer';
import { ClusterCredentials } from '#apiserver/controllers/cluster-credentials';
import { NodeCidrRanges } from '#apiserver/controllers/node-cidr-ranges';
import type { UserInfo } from '#apiserver/request/user-info';
import { ChainPolicyScan } from '#apiserver/server/chain-policy-scan';
import { ApiServers } from '#cmd/apis/api-servers';
import { ControllerClients } from '#cmd/controllers/controller-clients';
import { Controllers, SelectedControllers } from '#cmd/controllers/controllers';
import { ElectionIdentity, Elections, identityOf } from '#cmd/controllers/elections';
import { EventRecorders } from '#cmd/controllers/event-recorders';
import { ManagedControllers } from '#cmd/controllers/managed-controllers';
import type { ServerConfig } from '#cmd/server-config';
import type { JwtTokenIssuer } from '#kubernetes/serviceaccount/jwt-token-issuer';

/** User of the writes that a policy scan assumes; the same as that of `kubenest audit`. */
const scanUser: UserInfo = { name: 'kubenest:audit', groups: ['system:authenticated'] };

/** Controllers in the server's process, each as a user of its own, and the election of the server that runs them. */
@Module({})
export class ControllersModule {
  /** `serving`: the module of the kept traces. `serviceAccounts`: the module of the signer of tokens. */
  static register(
    {
      controllers,
      nodeCidrs = { pods: [], services: [] },
      rootCertificateAuthority = '',
      signCertificateRequest,
      storage,
    }: Pick<ServerConfig, 'controllers' | 'nodeCidrs' | 'rootCertificateAuthority' | 'signCertificateRequest' | 'storage'>,
    serving: DynamicModule,
    serviceAccounts: DynamicModule,
  ): DynamicModule {
    return {
      module: ControllersModule,
      imports: [serving, serviceAccounts],
      providers: [
        { provide: SelectedControllers, useValue: controllers },
        { provide: ElectionIdentity, useValue: identityOf(storage) },
        { provide: NodeCidrRanges, useValue: nodeCidrs },
        {
          provide: ClusterCredentials,
          useFactory: (issuer?: JwtTokenIssuer): ClusterCredentials => ({
            rootCertificateAuthority,
            signSecretToken: issuer?.signSecretToken,
            signCertificateRequest,
          }),
          inject: [{ token: TokenIssuer, optional: true }],
        },
        {
          provide: PolicyScan,
          useFactory: ({ chain: servers }: ApiServers, chain: AdmissionChain): PolicyScan => new ChainPolicyScan(servers, chain, scanUser),
          inject: [ApiServers, AdmissionChain],
        },
        ControllerClients,
        EventRecorders,
        ManagedControllers,
        Elections,
        Controllers,
      ],
    };
  }
}
