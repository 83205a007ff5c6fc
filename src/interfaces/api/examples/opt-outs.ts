// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "optOuts.import": [
    {
      "name": "example",
      "body": "phone_number\n+5511912345678\n",
      "status": 200,
      "answer": {
        "success": true,
        "summary": {"total": 1, "created": 0, "updated": 1, "unchanged": 0, "skipped": 0, "failed": 0},
        "failures": [],
        "doubtful": [],
        "results": [{"row": 2, "status": "updated", "chat_id": "5511912345678", "id": "01a20000-0000-7000-8000-000000000004"}]
      }
    },
    {
      "name": "missing_required_field",
      "body": "name\nBruno Lima\n",
      "status": 400,
      "answer": {
        "success": false,
        "error": "Missing required field",
        "message": "phone_number (or chat_id) is required: the first row of the file must name such a column, such as Phone, Mobile, WhatsApp, Telefone, Celular or Móvil, and it has \"name\""
      }
    }
  ],
  "optOuts.list": [
    {
      "name": "example",
      "status": 200,
      "answer": {
        "success": true,
        "optOuts": [
          {
            "contactId": "01a20000-0000-7000-8000-000000000004",
            "chatNumber": "5511912345678",
            "contactName": "Bruno Lima",
            "opted_out_at": "2026-03-02T09:00:00.000Z",
            "source": "import"
          }
        ],
        "pagination": {
          "currentPage": 1,
          "totalPages": 1,
          "totalOptOuts": 1,
          "optOutsPerPage": 50,
          "hasNextPage": false,
          "hasPrevPage": false
        },
        "count": 1
      }
    },
    {
      "name": "invalid_parameter",
      "query": {"limit": "0"},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Invalid parameter",
        "message": "limit must be a whole number from 1 to 100, not \"0\""
      }
    }
  ],
  "optOuts.export": [
    {
      "name": "example",
      "status": 200,
      "answer": "contactId,chatNumber,contactName,opted_out_at,source\r\n01a20000-0000-7000-8000-000000000004,5511912345678,Bruno Lima,2026-03-02T09:00:00.000Z,import\r\n"
    },
    {
      "name": "json",
      "query": {"format": "json"},
      "status": 200,
      "answer": {
        "success": true,
        "optOuts": [
          {
            "contactId": "01a20000-0000-7000-8000-000000000004",
            "chatNumber": "5511912345678",
            "contactName": "Bruno Lima",
            "opted_out_at": "2026-03-02T09:00:00.000Z",
            "source": "import"
          }
        ]
      }
    },
    {
      "name": "invalid_parameter",
      "query": {"format": "xlsx"},
      "status": 400,
      "answer": {"success": false, "error": "Invalid parameter", "message": "format must be one of csv, json, not \"xlsx\""}
    }
  ]
}
