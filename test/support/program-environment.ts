// Gives the environment in which tests start programs of this project: nothing of the machine's.

import { join } from 'node:path'

/** Node keeps compiled code there: without types to erase again, a gateway starts in half the CPU time. */
const COMPILE_CACHE = join(import.meta.dirname, '../../node_modules/.cache/compiled')

/** @param own what the program is given besides; it wins */
export const programEnvironment = (
  own: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> => ({ NODE_COMPILE_CACHE: COMPILE_CACHE, ...own })
