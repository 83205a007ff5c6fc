import { useEffect, useState } from 'react'

/** The number of messages since the newest was last seen. */
export function useNewCount(lastSeq: number | undefined, isSeen: boolean): number {
  const [seen, setSeen] = useState(lastSeq)
  useEffect(() => {
    if (lastSeq !== undefined && (isSeen || seen === undefined)) setSeen(lastSeq)
  }, [lastSeq, isSeen, seen])
  return Math.max(0, (lastSeq ?? 0) - (seen ?? lastSeq ?? 0))
}
