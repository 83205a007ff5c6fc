// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "contacts.create": [
    {
      "name": "example",
      "body": {"phone_number": "+5511987654321", "full_name": "Ana Souza", "tags": ["vip"]},
      "status": 201,
      "answer": {
        "success": true,
        "contact": {
          "id": "01a20000-0000-7000-8000-000000000002",
          "full_name": "Ana Souza",
          "chat_id": "5511987654321",
          "phone_number": "+5511987654321",
          "email": null,
          "tags": ["vip"],
          "organization_id": "01a20000-0000-7000-8000-000000000003",
          "bot_status": null,
          "allow_broadcast": true,
          "archived": false,
          "blocked": false,
          "active_status": false,
          "has_unread_messages": false,
          "source": null,
          "contact_summary": null,
          "contact_summary_updated_at": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "updated_at": "2026-03-02T09:00:00.000Z"
        }
      }
    },
    {
      "name": "invalid_field",
      "body": {"phone_number": "12"},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Invalid field",
        "message": "phone_number \"12\" is not a possible phone number: give it with its country code, such as +5511999990000"
      }
    }
  ],
  "contacts.get": [
    {
      "name": "example",
      "query": {"phone_number": "+5511987654321"},
      "status": 200,
      "answer": {
        "success": true,
        "contact": {
          "id": "01a20000-0000-7000-8000-000000000002",
          "full_name": "Ana Souza",
          "chat_id": "5511987654321",
          "phone_number": "+5511987654321",
          "email": null,
          "tags": ["vip"],
          "organization_id": "01a20000-0000-7000-8000-000000000003",
          "bot_status": null,
          "allow_broadcast": true,
          "archived": false,
          "blocked": false,
          "active_status": false,
          "has_unread_messages": false,
          "source": null,
          "contact_summary": null,
          "contact_summary_updated_at": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "updated_at": "2026-03-02T09:00:00.000Z"
        }
      }
    },
    {
      "name": "contact_not_found",
      "query": {"phone_number": "+5511955550000"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Contact not found",
        "message": "No contact with phone_number +5511955550000 in this organization"
      }
    }
  ],
  "contacts.update": [
    {
      "name": "example",
      "query": {"phone_number": "+5511987654321"},
      "body": {"tags": ["vip", "newsletter"]},
      "status": 200,
      "answer": {
        "success": true,
        "contact": {
          "id": "01a20000-0000-7000-8000-000000000002",
          "full_name": "Ana Souza",
          "chat_id": "5511987654321",
          "phone_number": "+5511987654321",
          "email": null,
          "tags": ["vip", "newsletter"],
          "organization_id": "01a20000-0000-7000-8000-000000000003",
          "bot_status": null,
          "allow_broadcast": true,
          "archived": false,
          "blocked": false,
          "active_status": false,
          "has_unread_messages": false,
          "source": null,
          "contact_summary": null,
          "contact_summary_updated_at": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "updated_at": "2026-03-02T09:00:00.000Z"
        }
      }
    },
    {
      "name": "contact_not_found",
      "query": {"phone_number": "+5511955550000"},
      "body": {"tags": []},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Contact not found",
        "message": "No contact with phone_number +5511955550000 in this organization"
      }
    }
  ],
  "contacts.erase": [
    {
      "name": "contact_not_found",
      "query": {"phone_number": "+5511955550000"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Contact not found",
        "message": "No contact with phone_number +5511955550000 in this organization"
      }
    },
    {
      "name": "example",
      "query": {"phone_number": "+5511987654321"},
      "status": 200,
      "answer": {"success": true, "message": "The contact 5511987654321 and its messages have been erased"}
    }
  ],
  "contacts.import": [
    {
      "name": "example",
      "body": "phone_number,full_name\n+5511912345678,Bruno Lima\n",
      "status": 200,
      "answer": {
        "success": true,
        "summary": {"total": 1, "created": 1, "updated": 0, "unchanged": 0, "skipped": 0, "failed": 0},
        "failures": [],
        "doubtful": [],
        "results": [{"row": 2, "status": "created", "chat_id": "5511912345678", "id": "01a20000-0000-7000-8000-000000000004"}]
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
  "contacts.export": [
    {
      "name": "example",
      "status": 200,
      "answer": "id,full_name,chat_id,phone_number,email,tags,organization_id,bot_status,allow_broadcast,archived,blocked,active_status,has_unread_messages,source,contact_summary,contact_summary_updated_at,created_at,updated_at\r\n01a20000-0000-7000-8000-000000000002,Ana Souza,5511987654321,+5511987654321,,vip;newsletter,01a20000-0000-7000-8000-000000000003,,true,false,false,false,false,,,,2026-03-02T09:00:00.000Z,2026-03-02T09:00:00.000Z\r\n01a20000-0000-7000-8000-000000000004,Bruno Lima,5511912345678,+5511912345678,,,01a20000-0000-7000-8000-000000000003,,true,false,false,false,false,\"{\"\"type\"\":\"\"import\"\",\"\"created_at\"\":\"\"2026-03-02T09:00:00.000Z\"\"}\",,,2026-03-02T09:00:00.000Z,2026-03-02T09:00:00.000Z\r\n"
    },
    {
      "name": "json",
      "query": {"format": "json"},
      "status": 200,
      "answer": {
        "success": true,
        "contacts": [
          {
            "id": "01a20000-0000-7000-8000-000000000002",
            "full_name": "Ana Souza",
            "chat_id": "5511987654321",
            "phone_number": "+5511987654321",
            "email": null,
            "tags": ["vip", "newsletter"],
            "organization_id": "01a20000-0000-7000-8000-000000000003",
            "bot_status": null,
            "allow_broadcast": true,
            "archived": false,
            "blocked": false,
            "active_status": false,
            "has_unread_messages": false,
            "source": null,
            "contact_summary": null,
            "contact_summary_updated_at": null,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z"
          },
          {
            "id": "01a20000-0000-7000-8000-000000000004",
            "full_name": "Bruno Lima",
            "chat_id": "5511912345678",
            "phone_number": "+5511912345678",
            "email": null,
            "tags": [],
            "organization_id": "01a20000-0000-7000-8000-000000000003",
            "bot_status": null,
            "allow_broadcast": true,
            "archived": false,
            "blocked": false,
            "active_status": false,
            "has_unread_messages": false,
            "source": {"type": "import", "created_at": "2026-03-02T09:00:00.000Z"},
            "contact_summary": null,
            "contact_summary_updated_at": null,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z"
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
