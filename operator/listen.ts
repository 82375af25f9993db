// Opens a server at an address of the settings.

import type { Server } from 'node:net'
import type { Address } from '../telemetry/settings-table.ts'

/** @throws Error with a `code` such as EADDRINUSE */
export const listen = (server: Server, address: Address): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    const onListening = (): void => {
      server.off('error', reject)
      resolve()
    }
    if (address.kind === 'unix') server.listen(address.path, onListening)
    else if (address.host === '') server.listen(address.port, onListening)
    else server.listen(address.port, address.host, onListening)
  })
