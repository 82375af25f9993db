// Starts the identity provider of the examples on loopback, which knows the gateway as the client of
// `examples/realm.yaml`.

import { type Idp, startIdp } from './idp/idp.ts'

/** The client of `examples/realm.yaml`. It ends with the playground: a real secret would only be kept in a Secret. */
const CLIENT = { clientId: 'gateway', clientSecret: 'playground-only' }

/** The path of `examples/22-orders.yaml`, whose provider is named `playground`. */
const OIDC = '/my/oidc/playground'

/**
 * @param port 0 for any free one
 * @param gateway where browsers reach it: `http://127.0.0.1:18080`
 * @throws the error of `listen`, such as EADDRINUSE
 */
export const startExampleIdp = (port: number, gateway: string): Promise<Idp> =>
  startIdp({
    port,
    clients: [
      {
        ...CLIENT,
        redirectUris: [`${gateway}${OIDC}/callback`],
        postLogoutOrigin: gateway,
        backChannelLogoutUri: `${gateway}${OIDC}/backchannel-logout`,
      },
    ],
  })
