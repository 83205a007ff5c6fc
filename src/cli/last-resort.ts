/** How long the process may take to end on its own. */
const END_TIMEOUT_MS = 2_000

/**
 * Ends this process with its exit code even if something keeps it alive: libraries leave timers behind, the one of
 * linked devices for minutes. Waits until the output is read.
 */
export function endSoon(): void {
  const timer = setInterval(() => {
    if ([process.stdout, process.stderr].every(isWritten)) process.exit()
  }, END_TIMEOUT_MS)
  timer.unref()
}

function isWritten({ writableLength, destroyed }: NodeJS.WriteStream): boolean {
  return writableLength === 0 || destroyed
}
