// A directory in memory whose owner may be killed, or whose disk may fill, at any operation.

import { type SnapshotFiles, TEMPORARY } from '../../../dataplane/store/snapshot/snapshot-files.ts'

export class MemoryFiles implements SnapshotFiles {
  readonly files: Map<string, Buffer>
  /** Operations that change something, so far. */
  operations = 0
  /** From this operation on, every one fails: the process is dead. */
  killAt = Number.POSITIVE_INFINITY
  isFull = false
  bytesWritten = 0
  readonly unreadable = new Set<string>()

  constructor(files: Iterable<readonly [string, Buffer]> = []) {
    this.files = new Map(files)
  }

  list(): Promise<readonly string[]> {
    return Promise.resolve([...this.files.keys()])
  }

  read(name: string): Promise<Buffer> {
    const bytes = this.files.get(name)
    if (bytes === undefined) return Promise.reject(new Error(`ENOENT ${name}`))
    return this.unreadable.has(name)
      ? Promise.reject(new Error(`EIO ${name}`))
      : Promise.resolve(bytes)
  }

  async write(name: string, bytes: Buffer): Promise<void> {
    this.bytesWritten += bytes.length
    await this.#operation(() => {
      this.files.set(`${TEMPORARY}${name}`, bytes.subarray(0, bytes.length / 2))
    })
    if (this.isFull) throw new Error('ENOSPC')
    await this.#operation(() => {
      this.files.set(`${TEMPORARY}${name}`, bytes)
    })
    await this.rename(`${TEMPORARY}${name}`, name)
  }

  async append(name: string, bytes: Buffer): Promise<void> {
    const before = this.files.get(name)
    if (before === undefined) throw new Error(`ENOENT ${name}`)
    this.bytesWritten += bytes.length
    const half = bytes.subarray(0, bytes.length / 2)
    await this.#operation(() => this.files.set(name, Buffer.concat([before, half])))
    if (this.isFull) throw new Error('ENOSPC')
    await this.#operation(() => this.files.set(name, Buffer.concat([before, bytes])))
  }

  rename(from: string, to: string): Promise<void> {
    return this.#operation(() => {
      const bytes = this.files.get(from)
      if (bytes === undefined) throw new Error(`ENOENT ${from}`)
      this.files.delete(from)
      this.files.set(to, bytes)
    })
  }

  remove(name: string): Promise<void> {
    return this.#operation(() => {
      this.files.delete(name)
    })
  }

  syncDirectory(): Promise<void> {
    return this.#operation(() => undefined)
  }

  async #operation(change: () => unknown): Promise<void> {
    await Promise.resolve()
    this.operations += 1
    if (this.operations >= this.killAt) throw new Error('killed')
    change()
  }
}
