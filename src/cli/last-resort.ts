/** So long it may take to end by itself. */
const PATIENCE_MS = 2_000

/**
 * Ends this process, whose work is done, with its exit code, also where something keeps it up: libraries leave timers behind, the one
 * of linked devices some of minutes. What is still to be read by whoever reads the output is waited for.
 */
export function endSoon(): void {
  const timer = setInterval(() => {
    if ([process.stdout, process.stderr].every(isWritten)) process.exit()
  }, PATIENCE_MS)
  timer.unref()
}

function isWritten({ writableLength, destroyed }: NodeJS.WriteStream): boolean {
  return writableLength === 0 || destroyed
}
