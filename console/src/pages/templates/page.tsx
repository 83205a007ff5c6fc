import { ModalsProvider } from '@mantine/modals'
import { Navigate, Route, Routes } from 'react-router'
import { NotFound } from '../../layout/not-found.js'
import { useMay } from '../../session/session.js'
import { useLiveTemplates } from './data.js'
import { EditPage } from './edit/edit-page.js'
import { LibraryPage } from './library.js'
import { TemplateList } from './list.js'

/** `/templates`: the list, the form of one template, and WhatsApp's library. */
export default function TemplatesPage() {
  const mayWrite = useMay('agent')
  useLiveTemplates()
  if (!mayWrite) return <Navigate to="/inbox" replace />
  return (
    <ModalsProvider>
      <Routes>
        <Route index element={<TemplateList />} />
        <Route path="new" element={<EditPage purpose="new" />} />
        <Route path="edit" element={<EditPage purpose="edit" />} />
        <Route path="duplicate" element={<EditPage purpose="duplicate" />} />
        <Route path="library" element={<LibraryPage />} />
        <Route path="*" element={<NotFound />} />
      </Routes>
    </ModalsProvider>
  )
}
