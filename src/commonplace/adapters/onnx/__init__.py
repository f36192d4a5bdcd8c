"""The local embedding model: all-MiniLM-L6-v2 on onnxruntime.

Nothing is imported here: `model_files` can say where the model is without loading onnxruntime. But a door is closed:
since 1.29 onnxruntime reports to its maker from the moment it is imported, under an identifier that it keeps in the
user's cache folder, and only this variable, set before, prevents all of it.
"""

import os

# putenv, because this changes what the C library of this process sees and reads nothing.
os.putenv("ORT_DISABLE_TELEMETRY", "1")
