// Says whether there is a process of a number, ended and not yet reaped ones included.

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
