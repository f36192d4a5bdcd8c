"""The local embedding model: all-MiniLM-L6-v2 on onnxruntime.

Nothing is imported here: `model_files` can say where the model is without loading onnxruntime.
"""
