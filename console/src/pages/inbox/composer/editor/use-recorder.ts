import { useEffect, useRef, useState } from 'react'
import { notifyError } from '../../../../shared/problem.js'

/** Recording formats; the first that the browser supports is used. */
const FORMATS = ['audio/ogg;codecs=opus', 'audio/webm;codecs=opus', 'audio/mp4'] as const
const EXTENSIONS: Record<string, string> = { 'audio/ogg': 'ogg', 'audio/webm': 'webm', 'audio/mp4': 'm4a' }

/** Recorder of voice notes. */
export interface Recorder {
  isPossible: boolean
  isRecording: boolean
  seconds: number
  start: () => Promise<void>
  /** Stops the recording and passes it to `onDone`. */
  finish: () => void
  cancel: () => void
}

/** Records from the microphone. `onDone` gets the recording; `onRefused` is called without access to a microphone. */
export function useRecorder(onDone: (file: File) => void, onRefused: () => void): Recorder {
  const recorder = useRef<MediaRecorder | null>(null)
  const isKept = useRef(false)
  const isGone = useRef(false)
  const [isRecording, setRecording] = useState(false)
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    if (!isRecording) return
    const begun = Date.now()
    const timer = setInterval(() => setSeconds((Date.now() - begun) / 1_000), 250)
    return () => clearInterval(timer)
  }, [isRecording])
  useEffect(() => {
    isGone.current = false
    return () => {
      isGone.current = true
      stop(recorder.current)
    }
  }, [])

  const start = async () => {
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
      // The tools may have disappeared while the browser asked for permission; then no button could stop the recording.
      if (isGone.current) return release(stream)
      const mimeType = FORMATS.find((format) => MediaRecorder.isTypeSupported(format))
      const parts: Blob[] = []
      const media = new MediaRecorder(stream, mimeType ? { mimeType } : {})
      media.ondataavailable = ({ data }) => parts.push(data)
      media.onstop = () => {
        release(stream)
        setRecording(false)
        if (isKept.current) onDone(toFile(parts, media.mimeType))
      }
      isKept.current = false
      recorder.current = media
      media.start()
      setSeconds(0)
      setRecording(true)
    } catch (error) {
      if (error instanceof DOMException) onRefused()
      else notifyError(error)
    }
  }
  const end = (keep: boolean) => {
    isKept.current = keep
    stop(recorder.current)
  }
  const isPossible = typeof MediaRecorder !== 'undefined' && navigator.mediaDevices !== undefined
  return { isPossible, isRecording, seconds, start, finish: () => end(true), cancel: () => end(false) }
}

function stop(media: MediaRecorder | null): void {
  if (media && media.state !== 'inactive') media.stop()
}

function release(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop()
}

function toFile(parts: Blob[], mimeType: string): File {
  const type = mimeType.split(';')[0] ?? 'audio/webm'
  return new File(parts, `voice.${EXTENSIONS[type] ?? 'webm'}`, { type })
}
