import { useEffect } from 'react'

/** Makes the browser ask before it leaves a form with unsaved changes. */
export function useWarnUnsaved(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isDirty])
}
